import { Module } from '@nestjs/common';
import { OpenIdProvider } from './open-id-provider.js';
import { OpenIdController } from './open-id.controller.js';

@Module({ controllers: [OpenIdController], providers: [OpenIdProvider], exports: [OpenIdProvider] })
export class SignInModule {}
