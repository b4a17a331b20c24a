import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'PixelUrls' })
export class PixelUrlsResource {
  @ApiProperty({
    format: 'uri',
    example:
      'https://boost.example.com/outreach/campaign/ostervale-spring-travel/tracking-pixel/teaser?journeyId=r-4711',
  })
  teaser: string;
  @ApiProperty({
    format: 'uri',
    example:
      'https://boost.example.com/outreach/campaign/ostervale-spring-travel/tracking-pixel/reward?journeyId=r-4711',
  })
  reward: string;
}
