import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';

/** Boost stores no personal data except events in the outbox. */
@Controller()
export class ErasuresController {
  constructor(private readonly tracking: TrackingService) {}

  @RpcHandler(ERASE.boost)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
