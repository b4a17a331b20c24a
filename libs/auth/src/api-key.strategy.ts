import { PassportStrategy } from '@nestjs/passport';
import { isApiKey, type ResolvedKey } from '@perkway/domain';
import { HeaderAPIKeyStrategy } from 'passport-headerapikey';
import type { KeyStore } from './key-store.js';

export const API_KEY_HEADER = 'x-api-key';

/**
 * The strategy of one application, under a name of its own: Passport's register of strategies is common to the whole
 * process, and several applications may run in one (tests).
 */
export function registerApiKeyStrategy(name: string, keys: KeyStore): void {
  class ApiKeyStrategy extends PassportStrategy(HeaderAPIKeyStrategy, name) {
    constructor() {
      super({ header: API_KEY_HEADER, prefix: '' }, false);
    }

    /** False is a refusal; an error (nobody can tell whose key it is) becomes 503. */
    async validate(key: string): Promise<ResolvedKey | false> {
      // What cannot be a key is refused without asking anybody.
      return isApiKey(key) && ((await keys.find(key)) ?? false);
    }
  }
  new ApiKeyStrategy();
}
