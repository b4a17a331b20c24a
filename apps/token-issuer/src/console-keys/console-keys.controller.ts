import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  CLOSE_CONSOLE_KEYS,
  OPEN_CONSOLE_KEY,
  type ConsoleKeyReply,
  type OpenConsoleKey,
} from '@perkway/domain';
import { RpcHandler } from '@perkway/platform';
import { ConsoleKeysService } from './console-keys.service.js';

@Controller()
export class ConsoleKeysController {
  constructor(private readonly keys: ConsoleKeysService) {}

  @RpcHandler(OPEN_CONSOLE_KEY)
  openConsoleKey(@Payload() request: OpenConsoleKey): Promise<ConsoleKeyReply> {
    return this.keys.open(request);
  }

  @RpcHandler(CLOSE_CONSOLE_KEYS)
  async closeConsoleKeys(@Payload() { ids }: { ids: string[] }): Promise<object> {
    await this.keys.close(ids);
    return {};
  }
}
