import { Global, Module, type DynamicModule } from '@nestjs/common';
import type { GiftCardsEnv } from '../env.js';
import { CardVault } from './card-vault.js';

@Global()
@Module({})
export class CardsModule {
  static register(env: GiftCardsEnv): DynamicModule {
    return {
      module: CardsModule,
      providers: [
        { provide: CardVault, useValue: new CardVault(env.CARD_ENCRYPTION_KEYS, env.CARD_HASH_KEY) },
      ],
      exports: [CardVault],
    };
  }
}
