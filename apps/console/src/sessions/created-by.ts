import { nameOf, type Session } from './session.js';

const MAX_LENGTH = 255;

/** Returns the name under which reward links of a session are stored. A header holds no control characters. */
export const createdBy = (session: Session): string =>
  [...`console: ${nameOf(session)}`.toWellFormed().replace(/\p{Cc}/gu, '?')].slice(0, MAX_LENGTH).join('');
