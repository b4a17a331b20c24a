import { Inject, Injectable } from '@nestjs/common';
import { LANGUAGES, TEXTS, type Language } from '../texts/index.js';
import { chooseLanguage } from './choose-language.js';
import { Compressed } from './compressed.js';
import { PageAssets, type Asset } from './page-assets.js';
import { renderPage } from './render-page.js';

export const DEFAULT_LANGUAGE = Symbol('DEFAULT_LANGUAGE');

/** The page in all its languages, rendered and compressed once at start. */
@Injectable()
export class SiteService {
  private readonly pages: Readonly<Record<Language, Compressed>>;

  constructor(
    private readonly assets: PageAssets,
    @Inject(DEFAULT_LANGUAGE) private readonly defaultLanguage: Language,
  ) {
    const languages = LANGUAGES.map((language) => TEXTS[language]);
    this.pages = Object.fromEntries(
      LANGUAGES.map((language) => [
        language,
        new Compressed(Buffer.from(renderPage(TEXTS[language], languages, assets))),
      ]),
    ) as Record<Language, Compressed>;
  }

  page(asked: unknown, acceptLanguage: string | undefined): { language: Language; content: Compressed } {
    const language = chooseLanguage(asked, acceptLanguage, this.defaultLanguage);
    return { language, content: this.pages[language] };
  }

  asset(name: string): Asset | undefined {
    return this.assets.find(name);
  }
}
