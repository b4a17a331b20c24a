import { HostCookie } from './cookies.js';

/** Where the id of the session is. No other site sends it. */
export class SessionCookie extends HostCookie {
  constructor(consoleUrl: string) {
    super(consoleUrl, 'perkway_session', 'strict');
  }
}
