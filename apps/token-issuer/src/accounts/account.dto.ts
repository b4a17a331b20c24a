import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsObject, ValidateNested } from 'class-validator';
import {
  IsBrandColor,
  IsLogo,
  IsOmittable,
  IsText,
  IsWebUrl,
  ReadBack,
  ResourceTimes,
} from '@perkway/platform';
import { AreOrigins } from './origin.js';

const MAX_NAME = 200;
const MAX_ORIGINS = 100;

const EXAMPLE_COLOR = '#0f5c4c';
const EXAMPLE_LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

@ApiSchema({ name: 'Brand' })
export class BrandDto {
  @ApiProperty({ example: 'Ostervale Bank' })
  @IsText(1, MAX_NAME)
  name: string;

  @ApiProperty({
    type: String,
    pattern: '^#[0-9a-fA-F]{6}$',
    description: 'Color of buttons. White or black text on it must reach a contrast of 4.5:1',
    example: EXAMPLE_COLOR,
  })
  @IsOmittable()
  @IsBrandColor()
  color?: string | null;

  @ApiProperty({
    type: String,
    description: 'A data URL of a PNG, SVG, WebP or JPEG image of at most 64 KiB',
    example: EXAMPLE_LOGO,
  })
  @IsOmittable()
  @IsLogo()
  logo?: string | null;

  @ApiProperty({
    description: 'Page where recipients of gift cards get help',
    example: 'https://www.ostervale-bank.example/help',
  })
  @IsOmittable()
  @IsWebUrl()
  support_url?: string | null;
}

@ReadBack()
@ApiSchema({ name: 'PutAccount' })
export class PutAccountDto {
  @ApiProperty({ example: 'Ostervale Bank' })
  @IsText(1, MAX_NAME)
  name: string;

  @ApiProperty({
    type: [String],
    maxItems: MAX_ORIGINS,
    description: 'Web sites whose pages may call the customer-journey endpoints of Boost. Default: none',
    example: ['https://app.ostervale-bank.example'],
  })
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(MAX_ORIGINS)
  @AreOrigins()
  allowed_origins?: string[] | null;

  @ApiProperty({
    type: BrandDto,
    description: "The account's brand for recipients of gift cards. Default: none",
  })
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => BrandDto)
  brand?: BrandDto | null;
}

@ApiSchema({ name: 'Account' })
export class AccountResource extends ResourceTimes {
  @ApiProperty({ example: 'ostervale-bank' })
  id: string;

  @ApiProperty({ example: 'Ostervale Bank' })
  name: string;

  @ApiProperty({ type: [String], example: ['https://app.ostervale-bank.example'] })
  allowed_origins: string[];

  @ApiProperty({ type: BrandDto, nullable: true })
  brand: BrandDto | null;
}
