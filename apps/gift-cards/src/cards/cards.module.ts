import { Module } from '@nestjs/common';
import { CardVault } from './card-vault.js';

@Module({ providers: [CardVault], exports: [CardVault] })
export class CardsModule {}
