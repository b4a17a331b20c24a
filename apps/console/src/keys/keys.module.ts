import { Module } from '@nestjs/common';
import { OwnKeysController } from './own-keys.controller.js';
import { OwnKeysService } from './own-keys.service.js';

@Module({ controllers: [OwnKeysController], providers: [OwnKeysService] })
export class KeysModule {}
