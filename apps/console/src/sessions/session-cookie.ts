import { HostCookie } from './cookies.js';

/** The cookie with the session id. SameSite=Strict, so that no other site can send it. */
export class SessionCookie extends HostCookie {
  constructor(consoleUrl: string) {
    super(consoleUrl, 'perkway_session', 'strict');
  }
}
