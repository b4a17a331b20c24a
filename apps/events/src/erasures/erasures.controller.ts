import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { ERASE, type ErasedPart, type Erasure } from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { FeedEraser } from './feed-eraser.js';

@Controller()
export class ErasuresController {
  constructor(private readonly eraser: FeedEraser) {}

  @RpcHandler(ERASE.events)
  async erase(@Payload() erasure: Erasure): Promise<ErasedPart> {
    return { isDone: await this.eraser.erase(erasure) };
  }
}
