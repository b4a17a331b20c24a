import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { allowListedOrigins } from '@perkway/auth';
import { AccountDirectory } from '@perkway/directory';
import { isCallerId } from '@perkway/domain';
import { CollectionStore } from '../catalog/collection-store.js';

const READ_PATH = /^\/perk-collections\/([^/?]+)(?:\/categories|\/perk\/[^/?]+)?(?:\?|$)/;

/** Allows the web sites of a collection's account to read it with a JOURNEY key. */
export function allowReadersOrigins(app: NestFastifyApplication): void {
  const accounts = app.get(AccountDirectory, { strict: false });
  const collections = app.get(CollectionStore, { strict: false });
  allowListedOrigins(app.getHttpAdapter().getInstance(), {
    accountOf: (url) => {
      const id = READ_PATH.exec(url)?.[1];
      return id === undefined || !isCallerId(id)
        ? null
        : collections.find(id).then((collection) => collection?.owner);
    },
    originsOf: (account) => accounts.allowedOrigins(account),
    isListedByAny: (origin) => accounts.isListedOrigin(origin),
    allowMethods: 'GET, HEAD',
    allowHeaders: 'if-none-match, x-api-key, x-disable-view-tracking',
    exposeHeaders: 'etag',
    allowsServerKeys: false,
  });
}
