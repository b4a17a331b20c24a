import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';

/** The only personal data in this app is in events that wait in the outbox. */
@Controller()
export class ErasuresController {
  constructor(private readonly tracking: TrackingService) {}

  @RpcHandler(ERASE.links)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
