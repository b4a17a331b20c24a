/** What rows must fulfil, all of it, with values as parameters of the statement. */
export class Conditions {
  readonly parameters: unknown[] = [];
  private readonly all: string[] = [];

  /** The parameters of the statement that stand before those of the conditions. */
  constructor(...parameters: unknown[]) {
    this.parameters.push(...parameters);
  }

  /** conditions.and`owner = ${owner}`; in the text is SQL, in braces are values. */
  and(text: TemplateStringsArray, ...values: unknown[]): this {
    this.all.push(text.reduce((sql, part, index) => `${sql}${this.bind(values[index - 1])}${part}`));
    return this;
  }

  /** For a column that is named in a variable. */
  equal(column: string, value: unknown): this {
    this.all.push(`${column} = ${this.bind(value)}`);
    return this;
  }

  /** What comes after this one in the order of the column. */
  after(column: string, value: unknown): this {
    this.all.push(`${column} > ${this.bind(value)}`);
    return this;
  }

  /** One of the columns has the text in it, in any case; undefined is in all. `%` and `_` mean themselves. */
  search(text: string | undefined, ...columns: string[]): this {
    if (text === undefined) return this;
    const wanted = `lower(${this.bind(text)})`;
    this.all.push(columns.map((column) => `strpos(lower(${column}), ${wanted}) > 0`).join(' or '));
    return this;
  }

  /** Adds a value that stands outside the conditions, such as a limit, and answers its placeholder. */
  bind(value: unknown): string {
    return `$${this.parameters.push(value)}`;
  }

  /** For `where`. */
  toString(): string {
    return this.all.length > 0 ? this.all.map((condition) => `(${condition})`).join(' and ') : 'true';
  }
}

/**
 * A time with all its microseconds, as text that can be cast back: a JavaScript date has milliseconds alone, and a list
 * that went on after one would show rows of that millisecond twice or never.
 */
export const exactTime = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
