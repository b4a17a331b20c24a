import { addSiteHeaders } from '@perkway/platform';
import type { Server } from 'node:http';

export const addSecurityHeaders = (server: Server, publicUrl: string): void =>
  addSiteHeaders(server, publicUrl, [
    // A brand's logo and the icon are data URLs.
    "img-src 'self' data:",
    "form-action 'none'",
    // No string ever becomes markup in our script.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
