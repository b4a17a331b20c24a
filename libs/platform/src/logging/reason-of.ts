/** Returns a short reason for a connection failure. The AggregateError of several addresses has no message of its own. */
export function reasonOf(error: unknown): string {
  const { message, code, errors } = error as NodeJS.ErrnoException & { errors?: unknown[] };
  if (message) return message;
  if (errors && errors.length > 0) return [...new Set(errors.map(reasonOf))].join('; ');
  return code ?? String(error);
}
