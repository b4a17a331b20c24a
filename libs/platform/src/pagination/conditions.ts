/** Builds a `where` clause of conditions that must all hold, with values as statement parameters. */
export class Conditions {
  readonly parameters: unknown[] = [];
  private readonly all: string[] = [];

  /** @param parameters that precede those of the conditions in the statement */
  constructor(...parameters: unknown[]) {
    this.parameters.push(...parameters);
  }

  /** conditions.and`owner = ${owner}`: the template is SQL, its values become parameters. */
  and(text: TemplateStringsArray, ...values: unknown[]): this {
    this.all.push(text.reduce((sql, part, index) => `${sql}${this.bind(values[index - 1])}${part}`));
    return this;
  }

  /** Compares a column whose name is in a variable. */
  equal(column: string, value: unknown): this {
    this.all.push(`${column} = ${this.bind(value)}`);
    return this;
  }

  /** Matches one of the values. */
  anyOf(column: string, values: readonly unknown[]): this {
    this.all.push(`${column} = any(${this.bind(values)})`);
    return this;
  }

  /** Matches values after this one in the order of the column. */
  after(column: string, value: unknown): this {
    this.all.push(`${column} > ${this.bind(value)}`);
    return this;
  }

  /**
   * Matches rows with the string in one of the columns, ignoring case; undefined matches all. `%` and `_` are literal.
   */
  search(text: string | undefined, ...columns: string[]): this {
    if (text === undefined) return this;
    const wanted = `lower(${this.bind(text)})`;
    this.all.push(columns.map((column) => `strpos(lower(${column}), ${wanted}) > 0`).join(' or '));
    return this;
  }

  /** Adds a parameter outside the conditions, such as a limit, and returns its placeholder. */
  bind(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  /** Returns the expression after `where`. */
  toString(): string {
    return this.all.length > 0 ? this.all.map((condition) => `(${condition})`).join(' and ') : 'true';
  }
}

/**
 * Returns SQL for a time as a string with microseconds. A JavaScript date has only milliseconds, so a list that
 * continued from one would repeat or skip rows of the same millisecond.
 */
export const exactTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
