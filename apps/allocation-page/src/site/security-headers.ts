import { addSiteHeaders } from '@perkway/platform';
import type { Server } from 'node:http';

export const addSecurityHeaders = (server: Server, publicUrl: string): void =>
  addSiteHeaders(server, publicUrl, [
    // Brand logos and the icon are data URLs.
    "img-src 'self' data:",
    // The buttons that choose a language.
    "form-action 'self'",
    // The script never turns a string into markup.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
