import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, IsArray, IsInt, IsNumber, IsObject, Max, Min, ValidateNested } from 'class-validator';
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
const MAX_CURRENCIES = 50;
const MAX_LINKS = 1_000_000_000;
/** Exact to the cent as a JSON number. */
const MAX_AMOUNT = 1_000_000_000_000;

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

@ApiSchema({ name: 'ApprovalAmount' })
class ApprovalAmountDto {
  @ApiProperty({ example: 'EUR', description: 'ISO 4217' })
  @IsText(3, 3)
  currency: string;

  @ApiProperty({ minimum: 0, maximum: MAX_AMOUNT, example: 5000 })
  @IsNumber()
  @Min(0)
  @Max(MAX_AMOUNT)
  amount: number;
}

@ApiSchema({ name: 'Approvals' })
export class ApprovalsDto {
  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: MAX_LINKS,
    description:
      'A link job of more links waits for an approval. Default: the number of links does not matter',
    example: 500,
  })
  @IsOmittable()
  @IsInt()
  @Min(0)
  @Max(MAX_LINKS)
  links?: number | null;

  @ApiProperty({
    type: [ApprovalAmountDto],
    maxItems: MAX_CURRENCIES,
    description:
      'A link job of a higher value in one of these currencies waits for an approval. Each currency once',
  })
  @IsOmittable()
  @IsArray()
  @ArrayMaxSize(MAX_CURRENCIES)
  @ValidateNested({ each: true })
  @Type(() => ApprovalAmountDto)
  amount?: ApprovalAmountDto[] | null;
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
    description:
      'Web sites whose pages may call the customer-journey endpoints of Boost and read perks. Default: none',
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

  @ApiProperty({
    type: ApprovalsDto,
    description:
      'Sizes beyond which a link job of the console waits until another person of the account approves it. Default: none',
  })
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ApprovalsDto)
  approvals?: ApprovalsDto | null;
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

  @ApiProperty({ type: ApprovalsDto, nullable: true })
  approvals: ApprovalsDto | null;
}
