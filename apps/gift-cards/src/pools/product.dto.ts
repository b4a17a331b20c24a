import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CODE_FORMATS, type CodeFormat } from '@perkway/domain';
import {
  ApiTranslations,
  IsBrandColor,
  IsLogo,
  IsOmittable,
  IsText,
  IsTranslations,
  IsWebUrl,
} from '@perkway/platform';
import { IsIn } from 'class-validator';

/** Maximum lengths in characters. */
const TEXT_LIMITS = { name: 100, instructions: 2_000 };
export type ProductTranslations = Record<string, { name?: string; instructions?: string }>;

const NAME = 'Harbour Books gift card';
const INSTRUCTIONS = 'Enter the code when you pay, or show it at the counter.';
const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TRANSLATIONS = { fr: { name: 'Carte cadeau Harbour Books' } };

/** What the cards of a pool can buy. */
@ApiSchema({ name: 'PutProduct' })
export class PutProduct {
  @ApiProperty({ example: NAME })
  @IsText(1, TEXT_LIMITS.name)
  name: string;

  @ApiProperty({ description: 'How to spend the card, as plain text', example: INSTRUCTIONS })
  @IsOmittable()
  @IsText(0, TEXT_LIMITS.instructions)
  instructions?: string | null;

  @ApiProperty({ description: 'Address of the shop', example: 'https://harbour-books.example/redeem' })
  @IsOmittable()
  @IsWebUrl()
  redeem_url?: string | null;

  @ApiProperty({ example: 'https://harbour-books.example/gift-card-terms' })
  @IsOmittable()
  @IsWebUrl()
  terms_url?: string | null;

  @ApiProperty({
    type: String,
    description: 'A data URL of a PNG, SVG, WebP or JPEG image of at most 64 KiB',
    example: LOGO,
  })
  @IsOmittable()
  @IsLogo()
  logo?: string | null;

  @ApiProperty({
    type: String,
    pattern: '^#[0-9a-fA-F]{6}$',
    description: 'Color of the card. White or black text on it must reach a contrast of 4.5:1',
    example: '#0b4f6c',
  })
  @IsOmittable()
  @IsBrandColor()
  color?: string | null;

  @ApiProperty({
    enum: CODE_FORMATS,
    description:
      'How a till reads the code: as a barcode or QR code shown next to the text, or as text alone (default)',
    example: 'qr',
  })
  @IsOmittable()
  @IsIn(CODE_FORMATS)
  code_format?: CodeFormat | null;

  @ApiProperty({ description: 'Texts by language tag', example: TRANSLATIONS })
  @IsOmittable()
  @IsTranslations(TEXT_LIMITS)
  translations?: ProductTranslations | null;
}

@ApiSchema({ name: 'Product' })
export class Product {
  @ApiProperty({ example: NAME })
  name: string;
  @ApiProperty({ type: String, nullable: true, example: INSTRUCTIONS })
  instructions: string | null;
  @ApiProperty({ type: String, nullable: true, example: 'https://harbour-books.example/redeem' })
  redeem_url: string | null;
  @ApiProperty({ type: String, nullable: true, example: null })
  terms_url: string | null;
  @ApiProperty({ type: String, nullable: true, example: null })
  logo: string | null;
  @ApiProperty({ type: String, nullable: true, example: '#0b4f6c' })
  color: string | null;
  @ApiProperty({ enum: CODE_FORMATS, example: 'qr' })
  code_format: CodeFormat;
  @ApiTranslations(TEXT_LIMITS)
  @ApiProperty({ example: TRANSLATIONS })
  translations: ProductTranslations;
}
