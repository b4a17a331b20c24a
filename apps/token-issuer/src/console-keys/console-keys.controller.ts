import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  CLOSE_CONSOLE_KEYS,
  OPEN_CONSOLE_KEY,
  type ConsoleKeyReply,
  type OpenConsoleKey,
} from '@perkway/domain';
import { Answers } from '@perkway/platform';
import { ConsoleKeysService } from './console-keys.service.js';

@Controller()
export class ConsoleKeysController {
  constructor(private readonly keys: ConsoleKeysService) {}

  @Answers(OPEN_CONSOLE_KEY)
  openConsoleKey(@Payload() request: OpenConsoleKey): Promise<ConsoleKeyReply> {
    return this.keys.open(request);
  }

  @Answers(CLOSE_CONSOLE_KEYS)
  async closeConsoleKeys(@Payload() { ids }: { ids: string[] }): Promise<object> {
    await this.keys.close(ids);
    return {};
  }
}
