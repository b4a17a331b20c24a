import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@perkway/auth';
import { DatabaseModule } from '@perkway/platform';
import { TrackingModule } from '@perkway/tracking';
import { CatalogModule } from './catalog/catalog.module.js';
import { CategoriesModule } from './categories/categories.module.js';
import { CategoryEntity } from './categories/category.entity.js';
import { CollectionsModule } from './perk-collections/management/collections.module.js';
import { CouponCodesModule } from './coupon-codes/coupon-codes.module.js';
import type { PerksEnv } from './env.js';
import { PerkEntity } from './perks/perk.entity.js';
import { PerksModule } from './perks/perks.module.js';
import { PerkCollectionsModule } from './perk-collections/perk-collections.module.js';

@Module({})
export class AppModule {
  static register(env: PerksEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        DatabaseModule.register(env, { app: 'perks', entities: [CategoryEntity, PerkEntity] }),
        AuthModule.register({ env }),
        TrackingModule.register({ app: 'perks' }),
        CatalogModule.register(env),
        CategoriesModule,
        PerksModule,
        CollectionsModule,
        PerkCollectionsModule,
        CouponCodesModule,
      ],
    };
  }
}
