import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import {
  CODE_FORMATS,
  type Brand,
  type CodeFormat,
  type ProductView,
  type RewardLinkState,
  type RewardLinkView,
} from '@perkway/domain';

@ApiSchema({ name: 'Card' })
class CardDto {
  @ApiProperty({ example: 'GIFT-7K2M-93QX' })
  code: string;
  @ApiPropertyOptional({ example: '4071' })
  pin?: string;
  @ApiPropertyOptional({
    format: 'date',
    example: '2027-12-31',
    description: 'The last day of the card, in UTC; only if it has one',
  })
  valid_until?: string;
}

@ApiSchema({ name: 'Brand' })
class BrandDto implements Brand {
  @ApiProperty({ example: 'Harbour Books' })
  name: string;
  @ApiProperty({ type: String, nullable: true, example: '#0b4f6c', description: '`#rrggbb`' })
  color: string | null;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'A `data:image/…` URL' })
  logo: string | null;
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'https://harbour-bank.example/help',
    description: 'Where recipients get help',
  })
  support_url?: string | null;
}

@ApiSchema({ name: 'Product' })
class ProductDto implements ProductView {
  @ApiProperty({ example: 'Harbour Books gift card' })
  name: string;
  @ApiProperty({ type: String, nullable: true, example: null, description: 'A `data:image/…` URL' })
  logo: string | null;
  @ApiProperty({ type: String, nullable: true, example: '#0b4f6c', description: '`#rrggbb`' })
  color: string | null;
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    example: 'Enter the code when you pay.',
    description:
      'How to spend the card. This and the following fields are present only if the link is REVEALED',
  })
  instructions?: string | null;
  @ApiPropertyOptional({ type: String, nullable: true, example: 'https://harbour-books.example/redeem' })
  redeem_url?: string | null;
  @ApiPropertyOptional({ type: String, nullable: true, example: null })
  terms_url?: string | null;
  @ApiPropertyOptional({ enum: CODE_FORMATS, example: 'qr', description: 'How a till reads the code' })
  code_format?: CodeFormat;
}

/** A reward link as its recipient sees it (specification sections 2 and 3). */
@ApiSchema({ name: 'RewardLink' })
export class RewardLink implements RewardLinkView {
  @ApiProperty({ enum: ['RESERVED', 'REVEALED', 'EXPIRED'], example: 'REVEALED' })
  state: RewardLinkState;
  @ApiProperty({ example: 25 })
  denomination: number;
  @ApiProperty({ example: 'EUR' })
  currency: string;
  @ApiProperty({ example: 'FR' })
  country: string;
  @ApiProperty({ type: 'integer', example: 1893456000, description: 'Unix seconds' })
  expires_at: number;
  @ApiPropertyOptional({
    format: 'uuid',
    example: '0198a6c2-7b1e-7c55-9d3f-2f6f1f0f8a11',
    description: 'The id under which the sender knows the link; not if `state` is `RESERVED`',
  })
  id?: string;
  @ApiPropertyOptional({
    enum: [true],
    description:
      'Only if the link was cancelled before it was revealed, by its sender or by a withdrawal of its card; `state` is `EXPIRED`',
  })
  cancelled?: true;
  @ApiPropertyOptional({
    enum: [true],
    description:
      'Only if the link was cancelled and its card is withdrawn, for example recalled by its issuer',
  })
  withdrawn?: true;
  @ApiPropertyOptional({
    enum: [true],
    description:
      'Only if another link was made in place of this one; `state` is then `EXPIRED` or `REVEALED`',
  })
  replaced?: true;
  @ApiPropertyOptional({ type: CardDto, description: 'Only if `state` is `REVEALED`' })
  card?: CardDto;
  @ApiPropertyOptional({ type: BrandDto, description: 'Only if the account has set a brand' })
  brand?: BrandDto;
  @ApiPropertyOptional({
    type: ProductDto,
    description:
      "The product of the card, with texts in the recipient's language; only if the pool has a product",
  })
  product?: ProductDto;
}

const reserved: RewardLink = {
  state: 'RESERVED',
  denomination: 25,
  currency: 'EUR',
  country: 'FR',
  expires_at: 1893456000,
};
const revealed: RewardLink = {
  ...reserved,
  state: 'REVEALED',
  id: '0198a6c2-7b1e-7c55-9d3f-2f6f1f0f8a11',
  card: { code: 'GIFT-7K2M-93QX', pin: '4071', valid_until: '2027-12-31' },
};
const expired: RewardLink = {
  ...reserved,
  state: 'EXPIRED',
  expires_at: 1700000000,
  id: '0198a6c2-7b1e-7c55-9d3f-2f6f1f0f8a11',
};
export const REWARD_LINK_EXAMPLES = {
  reserved: { value: reserved },
  revealed: { value: revealed },
  expired: { value: expired },
  cancelled: { value: { ...expired, cancelled: true } },
  replaced: { value: { ...expired, cancelled: true, replaced: true } },
};
export const REVEALED_EXAMPLE = { revealed: { value: revealed } };
