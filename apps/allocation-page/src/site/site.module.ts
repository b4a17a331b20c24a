import { Module, type DynamicModule } from '@nestjs/common';
import type { Language } from '../texts/index.js';
import { PageAssets } from './page-assets.js';
import { SiteController } from './site.controller.js';
import { DEFAULT_LANGUAGE, SiteService } from './site.service.js';

@Module({})
export class SiteModule {
  static register(assetsFolder: string, defaultLanguage: Language): DynamicModule {
    return {
      module: SiteModule,
      controllers: [SiteController],
      providers: [
        { provide: PageAssets, useFactory: () => new PageAssets(assetsFolder) },
        { provide: DEFAULT_LANGUAGE, useValue: defaultLanguage },
        SiteService,
      ],
    };
  }
}
