/** A node of a plan from `explain (analyze, format json)`. */
export interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/**
 * Returns how many rows the nodes of a plan read, including those that a filter removed.
 * @param nodes which types of nodes count; default: all
 */
export const rowsRead = (plan: Plan, nodes = /./): number =>
  (nodes.test(plan['Node Type'])
    ? plan['Actual Loops'] * (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0))
    : 0) + (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part, nodes), 0);
