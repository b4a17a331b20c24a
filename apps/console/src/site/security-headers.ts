import { addSiteHeaders } from '@perkway/platform';
import type { Server } from 'node:http';

export const addSecurityHeaders = (server: Server, publicUrl: string): void =>
  addSiteHeaders(server, publicUrl, [
    // Partners host the pictures of perks on their own sites, in the local stack also without TLS.
    `img-src 'self' data: https:${publicUrl.startsWith('https:') ? '' : ' http:'}`,
    "font-src 'self'",
    "form-action 'self'",
  ]);
