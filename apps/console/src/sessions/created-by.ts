import { nameOf, type Session } from './session.js';

const MAX_LENGTH = 255;

/** Who has made a reward link, as a header can say it. */
export const createdBy = (session: Session): string =>
  `console: ${nameOf(session)}`.replace(/[^ -~]/gu, '?').slice(0, MAX_LENGTH);
