#include "view_verdict.h"

#include <string.h>

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
    say_choice(verdict, verdict->usual, &told, &last);
    text_puts(verdict->out, ": estimated ");
    say_factor(verdict->out, times_slower(&verdict->ranking->items[1], verdict->best), "faster");
    text_puts(verdict->out, " than the next");
}

/* The usual candidate is as good as the best: says so, and whether another choice would have been a bad one. */
static void say_no_matter(const struct verdict *verdict)
{
    const double noteworthy = 1.1;
    const struct ranked *worst = &verdict->ranking->items[verdict->ranking->count - 1];
    double factor = times_slower(worst, verdict->best);
    size_t told, last;
    text_puts(verdict->out, "the layout hardly matters here: ");
    say_choice(verdict, verdict->usual, &told, &last);
    text_puts(verdict->out, told == 1 ? " is within 2 % of the best" : " are within 2 % of the best");
    if (factor < noteworthy)
        return;
    text_puts(verdict->out, ", though the slowest is estimated ");
    say_factor(verdict->out, factor, "slower");
}

static void say_change(const struct verdict *verdict)
{
    size_t told, last;
    text_puts(verdict->out, "use ");
    say_choice(verdict, verdict->best, &told, &last);
    size_t ties = count_ties(verdict->ranking);
    if (ties == 2)
        text_puts(verdict->out, " (another ties with it)");
    else if (ties > 2)
        text_printf(verdict->out, " (%zu others tie with it)", ties - 1);
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

void view_verdict(struct text *out, const struct spec *spec, const struct device *device, const struct ranking *ranking)
{
    struct verdict verdict = {out, spec, ranking, NULL, NULL};
    if (ranking->count == 0 || ranking->items == NULL)
        return;
    verdict.best = &ranking->items[0];
    size_t usual = view_find_default(ranking, spec->array_count);
    if (usual < ranking->count)
        verdict.usual = &ranking->items[usual];
    size_t told, last;
    if (ranking->count == 1) {
        text_puts(out, "there is one candidate, ");
        say_choice(&verdict, verdict.best, &told, &last);
    } else if (verdict.usual == verdict.best && !verdict.best->tie)
        say_keep(&verdict);
    else if (verdict.usual != NULL && verdict.usual->tie)
        say_no_matter(&verdict);
    else
        say_change(&verdict);
    text_printf(out, "; bound by %s", view_resource_title(verdict.best->bound_by));
    if (!ranking->exhaustive)
        text_puts(out, "; arrays were improved one at a time");
    text_printf(out, "; counts are exact, times are an estimate for %s (%s)", device->name,
                device->calibrated ? "calibrated" : "not calibrated");
}
