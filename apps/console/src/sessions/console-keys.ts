import { Inject, Injectable } from '@nestjs/common';
import { hashApiKey } from '@perkway/auth';
import {
  CLOSE_CONSOLE_KEYS,
  OPEN_CONSOLE_KEY,
  type ConsoleKeyHolder,
  type ConsoleKeyReply,
  unavailable,
} from '@perkway/domain';
import { ENV, LOGGER, RpcClient } from '@perkway/platform';
import { keyedHash } from '@perkway/signing';
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { ConsoleEnv } from '../env.js';

/** The input from which a key is derived with the keyring, so that no store ever holds the key itself. */
export interface KeySource {
  purpose: 'session' | 'view' | 'job';
  /** A session's id, which only the browser has; for its view, with the view key's id appended; otherwise random. */
  secret: string;
  keyringId: string;
}

/** Manages the keys with which the console calls the fleet for a user (docs/adr/0025-console-sessions.md). */
@Injectable()
export class ConsoleKeys {
  constructor(
    @Inject(ENV) private readonly env: ConsoleEnv,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly rpc: RpcClient,
  ) {}

  /** Id of the ring's current key. */
  get keyringId(): string {
    return this.env.SESSION_KEYS.current;
  }

  /** Derives the key; returns undefined if the ring no longer has its keyring key. */
  keyOf({ purpose, secret, keyringId }: KeySource): string | undefined {
    const subkey = this.env.SESSION_KEYS.subkey(`console-${purpose}`, keyringId);
    return subkey && `ck_${keyedHash(subkey, secret)}`;
  }

  /** Registers the key at the token issuer. @returns its id, and the holder's account or an error code */
  async open(
    source: KeySource,
    holder: ConsoleKeyHolder,
    expiresAt: Date,
    id: string = randomUUID(),
  ): Promise<{ id: string; reply: ConsoleKeyReply }> {
    const hash = hashApiKey(this.env.API_KEY_PEPPER, this.keyOf(source)!);
    const reply = await this.rpc.request(OPEN_CONSOLE_KEY, {
      id,
      hash,
      expiresAt: expiresAt.getTime(),
      for: holder,
    });
    // A token issuer of an earlier release ignores `viewing`, and opens a key of the operator's own account.
    if ('keyId' in holder && holder.viewing !== undefined && !reply.error)
      if (reply.account !== holder.viewing || reply.role !== 'USER') {
        await this.close([id]);
        throw unavailable('The token issuer');
      }
    return { id, reply };
  }

  /** Revokes the keys, best effort: if this fails, they expire. */
  async close(ids: string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.rpc.request(CLOSE_CONSOLE_KEYS, { ids }).catch((err: unknown) => {
      this.logger.warn({ err, keys: ids.length }, 'could not close console keys, they will expire');
    });
  }
}
