/** What a BI tool reads the event store by: views of a schema of their own, and login roles that see one account each. */
export const REPORTING = {
  schema: 'reporting',
  /** May read the views; a member of it sees the rows of its own account. */
  group: 'analytics_reporting',
  /** Which login role sees which account. */
  roles: 'reporting.roles',
  /** Of one statement. A role can lift its own setting, so that upkeep ends what runs longer. */
  statementTimeoutMs: 30_000,
  /** Every session takes memory and a process of the server. */
  connections: 10,
} as const;
