import { PassportStrategy } from '@nestjs/passport';
import { isApiKey, type ResolvedKey } from '@perkway/domain';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import type { KeyStore } from './key-store.js';

export const API_KEY_HEADER = 'x-api-key';

/**
 * Registers a strategy under the application's own name: Passport's registry is process-wide, and tests run several
 * applications in one process.
 */
export function registerApiKeyStrategy(name: string, keys: KeyStore): void {
  class ApiKeyStrategy extends PassportStrategy(HeaderAPIKeyStrategy, name) {
    constructor() {
      super({ header: API_KEY_HEADER, prefix: '' }, false);
    }

    /** False means rejected; an error (the key cannot be looked up) becomes 503. */
    async validate(key: string): Promise<ResolvedKey | false> {
      // A malformed key is rejected without a lookup.
      return isApiKey(key) && ((await keys.find(key)) ?? false);
    }
  }
  new ApiKeyStrategy();
}
