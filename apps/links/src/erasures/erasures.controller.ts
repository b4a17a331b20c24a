import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { TrackingService } from '@perkway/tracking';

/** Here nothing is kept of a person but events that wait. */
@Controller()
export class ErasuresController {
  constructor(private readonly tracking: TrackingService) {}

  @Answers(ERASE.links)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    await this.tracking.erase(erasure);
    return { isDone: true };
  }
}
