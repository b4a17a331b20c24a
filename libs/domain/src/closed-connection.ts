/** Codes of errors of a connection that the other side closed, such as an idle one just before it was used again. */
export const CLOSED_CONNECTION_CODES: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];
