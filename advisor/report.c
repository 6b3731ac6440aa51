#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "embedded_template.h"
#include "emit_show.h"
#include "report_drawing.h"
#include "report_page.h"
#include "template.h"
#include "view_put.h"

static const struct source *find_partial(void *context, const char *name)
{
    return embedded_template(context, name);
}

static bool fill_in(struct text *out, const char *name, const json_t *view, struct arena *arena, struct diags *diags)
{
    const struct source *source = embedded_template(arena, name);
    const struct template_options options = {.escape_html = true, .find = find_partial, .find_context = arena};
    if (source == NULL)
        abort();
    return template_render(out, source, view, &options, diags);
}

/* "read particles.vel (line 18) by aos/direct" */
static const char *say_access(const json_t *access, struct arena *arena)
{
    const char *field = get_text(access, "field");
    return arena_printf(arena, "%s %s%s%s (line %" PRId64 ") by %s", get_text(access, "op"), get_text(access, "array"),
                        field[0] == '\0' ? "" : ".", field, get_count(access, "source_line"),
                        get_text(access, "candidate"));
}

bool report_svg(struct text *out, const json_t *explain, struct arena *arena, struct diags *diags)
{
    enum { MARGINS = 32, HEADING = 64 };
    json_t *view = json_copy((json_t *)explain), *drawing = report_drawing(explain);
    if (view == NULL)
        abort();
    put(view, "page_width", json_integer(get_count(drawing, "width") + MARGINS));
    put(view, "page_height", json_integer(get_count(drawing, "height") + HEADING));
    put_text(view, "what", say_access(json_object_get(explain, "access"), arena));
    put(view, "drawing", drawing);
    const bool good = fill_in(out, "explain.svg", view, arena, diags);
    json_decref(view);
    return good;
}

bool report_html(struct text *out, const json_t *report, struct arena *arena, struct diags *diags)
{
    json_t *page = report_page(report);
    const bool good = fill_in(out, "report.html", page, arena, diags);
    json_decref(page);
    return good;
}
