import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  BEGIN_ERASURE,
  ERASE,
  type ErasedPart,
  type Erasure,
  type ErasureSubject,
  type StandIns,
} from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { ErasedJourneys } from './erased-journeys.js';
import { ErasuresService } from './erasures.service.js';

@Controller()
export class ErasuresController {
  constructor(
    private readonly erased: ErasedJourneys,
    private readonly erasures: ErasuresService,
  ) {}

  @RpcHandler(BEGIN_ERASURE)
  begin(@Payload() subject: ErasureSubject): Promise<StandIns> {
    return this.erased.begin(subject);
  }

  @RpcHandler(ERASE['analytics-query'])
  erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    return this.erasures.erase(erasure);
  }
}
