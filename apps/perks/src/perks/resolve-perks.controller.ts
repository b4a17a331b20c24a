import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  canonicalLanguage,
  isCallerId,
  type LookupRequest,
  RESOLVE_OFFERS,
  RESOLVE_PERKS,
  type ResolvedPerk,
  type ResolvePerksOptions,
} from '@perkway/domain';
import { RpcHandler, ENV } from '@perkway/platform';
import type { PerksEnv } from '../env.js';
import { ResolvePerksService } from './resolve-perks.service.js';

/** Serves the RPCs of other apps over NATS. */
@Controller()
export class ResolvePerksController {
  constructor(
    private readonly perks: ResolvePerksService,
    @Inject(ENV) private readonly env: PerksEnv,
  ) {}

  @RpcHandler(RESOLVE_OFFERS)
  offers(@Payload() { ids }: LookupRequest): Promise<Record<string, string>> {
    return this.perks.offers(ids.filter(isCallerId));
  }

  @RpcHandler(RESOLVE_PERKS)
  resolve(
    @Payload() { ids, language = '' }: LookupRequest & ResolvePerksOptions,
  ): Promise<Record<string, ResolvedPerk>> {
    const { DEFAULT_LANGUAGE } = this.env;
    return this.perks.resolve(
      ids.filter(isCallerId),
      canonicalLanguage(language) ?? DEFAULT_LANGUAGE,
      DEFAULT_LANGUAGE,
    );
  }
}
