/** How BI tools read the event store: views in their own schema, and login roles that see one account each. */
export const REPORTING = {
  schema: 'reporting',
  /** May read the views; each member sees the rows of its own account. */
  group: 'analytics_reporting',
  /** Maps login roles to accounts. */
  roles: 'reporting.roles',
  /** Timeout of one statement. A role can lift its own setting, so analytics-query terminates what runs longer. */
  statementTimeoutMs: 30_000,
  /** Connection limit of each role, because every session takes memory and a server process. */
  connections: 10,
  /** Limit of temporary files per server process, so that a query cannot fill the disk. Only a superuser can set it. */
  tempFileLimit: '1GB',
} as const;
