#include "view_verdict.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "rank_sensitivity.h"
#include "view.h"

struct verdict {
    struct text *out;
    const struct spec *spec;
    const struct ranking *ranking;
    const struct ranked *best;
    const struct ranked *usual; /* the candidate that changes nothing; NULL where there is none */
};

/* Whether an array has a choice that the sentence should name: one unlike the usual one, or, where nothing is usual,
 * one of several. */
static bool is_told(const struct verdict *verdict, const struct ranked *ranked, size_t array)
{
    const char *text = ranked->chosen[array]->candidate.text;
    if (verdict->usual != NULL && verdict->usual != ranked)
        return strcmp(text, verdict->usual->chosen[array]->candidate.text) != 0;
    if (verdict->ranking->count == 1)
        return true;
    for (size_t i = 0; i < verdict->ranking->count; i++)
        if (strcmp(text, verdict->ranking->items[i].chosen[array]->candidate.text) != 0)
            return true;
    return false;
}

/* "soa/wide(4) for 'particles' and 'walls', aos/vector for 'cells'"; *told is how many arrays were named, *last the
 * last. */
static void say_choice(const struct verdict *verdict, const struct ranked *ranked, size_t *told, size_t *last)
{
    size_t count = 0;
    for (size_t i = 0; i < verdict->spec->array_count; i++)
        count += is_told(verdict, ranked, i);
    *told = *last = 0;
    for (size_t i = 0; i < verdict->spec->array_count; i++) {
        if (!is_told(verdict, ranked, i))
            continue;
        const struct option *option = ranked->chosen[i];
        bool again = *told > 0 && strcmp(ranked->chosen[*last]->candidate.text, option->candidate.text) == 0;
        text_puts(verdict->out, *told == 0 ? "" : *told + 1 == count ? " and " : ", ");
        if (!again)
            text_printf(verdict->out, "%s for ", option->candidate.text);
        text_printf(verdict->out, "'%s'", option->array->name.text);
        *last = i;
        (*told)++;
    }
}

/* "1.9 times faster", "4 % faster". */
static void say_factor(struct text *out, double factor, const char *word)
{
    if (factor < 1.095)
        text_printf(out, "%.0f %% %s", (factor - 1) * 100, word);
    else if (factor < 9.95)
        text_printf(out, "%.1f times %s", factor, word);
    else
        text_printf(out, "%.0f times %s", factor, word);
}

static size_t count_ties(const struct ranking *ranking)
{
    size_t count = 0;
    for (size_t i = 0; i < ranking->count; i++)
        count += ranking->items[i].tie;
    return count;
}

/* 1 where no kernel is ever called: then no time is spent. */
static double times_slower(const struct ranked *slow, const struct ranked *fast)
{
    return fast->time_us > 0 ? slow->time_us / fast->time_us : 1;
}

/* Nothing is estimated to be as fast as the usual candidate. */
static void say_keep(const struct verdict *verdict)
{
    size_t told, last;
    text_puts(verdict->out, "keep ");
    say_choice(verdict, verdict->best, &told, &last);
    text_puts(verdict->out, ": estimated ");
    say_factor(verdict->out, times_slower(&verdict->ranking->items[1], verdict->best), "faster");
    text_puts(verdict->out, " than the next");
}

/* The usual candidate is as good as the best: says so, and whether another choice would have been a bad one. */
static void say_no_matter(const struct verdict *verdict)
{
    const double noteworthy = 1.1;
    const size_t count = verdict->ranking->count;
    const struct ranked *worst = &verdict->ranking->items[count - 1];
    double factor = times_slower(worst, verdict->best);
    size_t told, last;
    if (verdict->usual == NULL || count_ties(verdict->ranking) == count) {
        text_puts(verdict->out, "the layout does not matter here: ");
        text_printf(verdict->out, count == 2 ? "both" : "all %zu", count);
        text_puts(verdict->out, verdict->usual == NULL ? " candidates asked for" : " candidates");
        text_puts(verdict->out, " are within 2 % of the best");
        return;
    }
    text_puts(verdict->out, "the layout hardly matters here: ");
    say_choice(verdict, verdict->usual, &told, &last);
    text_puts(verdict->out, told == 1 ? " is within 2 % of the best" : " are within 2 % of the best");
    if (factor < noteworthy)
        return;
    text_puts(verdict->out, ", though the slowest is estimated ");
    say_factor(verdict->out, factor, "slower");
}

/* Whether two candidates of the only array differ in the size of their tiles alone. */
static bool same_but_tile(const struct ranked *a, const struct ranked *b)
{
    const struct candidate *x = &a->chosen[0]->candidate, *y = &b->chosen[0]->candidate;
    const char *x_plan = strrchr(x->text, '/'), *y_plan = strrchr(y->text, '/');
    return x->layout.kind == LAYOUT_AOSOA && y->layout.kind == LAYOUT_AOSOA && x_plan != NULL && y_plan != NULL &&
           strcmp(x_plan, y_plan) == 0;
}

static unsigned long tile_of(const struct ranked *ranked)
{
    return strtoul(strchr(ranked->chosen[0]->candidate.text, '(') + 1, NULL, 10);
}

/* "aosoa(8|32|128)/direct": a tied candidate and those after it that differ in their tiles alone, smallest first. */
static void say_tied(const struct verdict *verdict, size_t first, size_t ties)
{
    const struct ranked *items = verdict->ranking->items;
    const char *text = items[first].chosen[0]->candidate.text;
    bool more = false;
    for (size_t i = first + 1; i < ties; i++)
        more |= same_but_tile(&items[first], &items[i]);
    if (!more) {
        text_puts(verdict->out, text);
        return;
    }
    for (unsigned long said = 0;;) {
        unsigned long next = ULONG_MAX;
        for (size_t i = first; i < ties; i++)
            if (same_but_tile(&items[first], &items[i]) && tile_of(&items[i]) > said && tile_of(&items[i]) < next)
                next = tile_of(&items[i]);
        if (next == ULONG_MAX)
            break;
        text_printf(verdict->out, said == 0 ? "aosoa(%lu" : "|%lu", next);
        said = next;
    }
    text_puts(verdict->out, strchr(text, ')'));
}

/* Who ties with the best: by name where there is one array and few of them. */
static void say_ties(const struct verdict *verdict)
{
    enum { NAMED_MOST = 3 };
    const size_t ties = count_ties(verdict->ranking);
    const struct ranked *items = verdict->ranking->items;
    size_t named = 0, shown = 0, first[NAMED_MOST] = {0};
    for (size_t i = 1; i < ties; i++) {
        bool earlier = false;
        for (size_t j = 1; j < i && !earlier; j++)
            earlier = same_but_tile(&items[j], &items[i]);
        if (!earlier && named < NAMED_MOST)
            first[shown++] = i;
        named += !earlier;
    }
    if (ties < 2)
        return;
    if (verdict->spec->array_count > 1 || named > NAMED_MOST) {
        text_printf(verdict->out, ties == 2 ? " (another ties with it)" : " (%zu others tie with it)", ties - 1);
        return;
    }
    text_puts(verdict->out, " (");
    for (size_t n = 0; n < shown; n++) {
        text_puts(verdict->out, n == 0 ? "" : n + 1 == shown ? " and " : ", ");
        say_tied(verdict, first[n], ties);
    }
    text_puts(verdict->out, ties == 2 ? " ties with it)" : " tie with it)");
}

static void say_change(const struct verdict *verdict)
{
    size_t told, last;
    text_puts(verdict->out, "use ");
    say_choice(verdict, verdict->best, &told, &last);
    say_ties(verdict);
    text_puts(verdict->out, ": estimated ");
    if (verdict->usual != NULL) {
        say_factor(verdict->out, times_slower(verdict->usual, verdict->best), "faster");
        text_printf(verdict->out, " than %s",
                    told == 1 ? verdict->usual->chosen[last]->candidate.text : "the default layouts");
        return;
    }
    const struct ranked *worst = &verdict->ranking->items[verdict->ranking->count - 1];
    say_factor(verdict->out, times_slower(worst, verdict->best), "faster");
    text_puts(verdict->out, " than the slowest asked for");
}

/* "aosoa(32)/wide(4)", or of several arrays those unlike the best's. */
static void say_winner(const struct verdict *verdict, size_t winner)
{
    const struct ranked *other = &verdict->ranking->items[winner];
    bool any = false;
    for (size_t i = 0; i < verdict->spec->array_count; i++) {
        const struct option *option = other->chosen[i];
        if (option == verdict->best->chosen[i])
            continue;
        text_printf(verdict->out, any ? " and %s" : "%s", option->candidate.text);
        if (verdict->spec->array_count > 1)
            text_printf(verdict->out, " for '%s'", option->array->name.text);
        any = true;
    }
}

static void say_times(struct text *out, double factor)
{
    if (factor < 1)
        text_printf(out, "1/%.0f of", 1 / factor);
    else
        text_printf(out, "%.0f times", factor);
}

/* What would have to change for another to win; changes with one winner in a row are told together. */
static void say_sensitivity(const struct verdict *verdict)
{
    const struct sensitivity *sensitivity = verdict->ranking->sensitivity;
    for (size_t i = 0; sensitivity != NULL && i < sensitivity->change_count; i++) {
        const struct rank_change *change = &sensitivity->changes[i];
        const bool again = i > 0 && change->winner == sensitivity->changes[i - 1].winner;
        text_puts(verdict->out, again ? "" : i == 0 ? "; otherwise " : ", ");
        if (!again)
            say_winner(verdict, change->winner);
        text_puts(verdict->out, again ? " or" : "");
        switch (change->kind) {
        case CHANGE_EXTENT:
            text_puts(verdict->out, " at ");
            say_times(verdict->out, change->factor);
            text_puts(verdict->out, " the extent");
            break;
        case CHANGE_CALLS:
            text_puts(verdict->out, " at ");
            say_times(verdict->out, change->factor);
            text_printf(verdict->out, " the calls of '%s'", change->kernel->name.text);
            break;
        case CHANGE_DEVICE:
            text_printf(verdict->out, " on %s", change->device->name);
            break;
        }
    }
}

enum view_advice view_advise(const struct ranking *ranking, size_t array_count)
{
    const size_t usual = view_find_default(ranking, array_count);
    if (ranking->count == 1)
        return ADVICE_ONE;
    if (usual == 0 && !ranking->items[0].tie)
        return ADVICE_KEEP;
    if (count_ties(ranking) == ranking->count || (usual < ranking->count && ranking->items[usual].tie))
        return ADVICE_NO_MATTER;
    return ADVICE_CHANGE;
}

void view_verdict(struct text *out, const struct spec *spec, const struct device *device, const struct ranking *ranking)
{
    struct verdict verdict = {out, spec, ranking, NULL, NULL};
    if (ranking->count == 0 || ranking->items == NULL)
        return;
    if (spec->array_count == 0) {
        text_puts(out, "there is no array to lay out");
        return;
    }
    verdict.best = &ranking->items[0];
    size_t usual = view_find_default(ranking, spec->array_count);
    if (usual < ranking->count)
        verdict.usual = &ranking->items[usual];
    size_t told, last;
    switch (view_advise(ranking, spec->array_count)) {
    case ADVICE_ONE:
        text_puts(out, "there is one candidate, ");
        say_choice(&verdict, verdict.best, &told, &last);
        break;
    case ADVICE_KEEP:
        say_keep(&verdict);
        break;
    case ADVICE_NO_MATTER:
        say_no_matter(&verdict);
        break;
    case ADVICE_CHANGE:
        say_change(&verdict);
        break;
    }
    text_printf(out, "; bound by %s", view_resource_title(verdict.best->bound_by));
    say_sensitivity(&verdict);
    if (!ranking->exhaustive)
        text_puts(out, "; arrays were improved one at a time");
    text_printf(out, "; counts are exact, times are an estimate for %s (%s)", device->name,
                device->calibrated ? "calibrated" : "not calibrated");
}
