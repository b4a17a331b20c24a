import { addSiteHeaders } from '@perkway/platform';
import type { Server } from 'node:http';

export const addSecurityHeaders = (server: Server, publicUrl: string): void =>
  addSiteHeaders(server, publicUrl, [
    // Pictures of perks are where their partners keep them, on the local stack without TLS too.
    `img-src 'self' data: https:${publicUrl.startsWith('https:') ? '' : ' http:'}`,
    "font-src 'self'",
    "form-action 'self'",
  ]);
