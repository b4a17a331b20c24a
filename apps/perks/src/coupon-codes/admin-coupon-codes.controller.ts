import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { Roles } from '@perkway/auth';
import { ApiProblems, CallerIdPipe } from '@perkway/platform';
import { CouponCodeStock, LoadCouponCodesDto, LoadedCouponCodes } from './coupon-code.dto.js';
import { CouponCodesService } from './coupon-codes.service.js';

@ApiTags('Management')
@Roles('ADMIN')
@Controller('admin/perks/:perkId/coupon-codes')
export class AdminCouponCodesController {
  constructor(private readonly codes: CouponCodesService) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Add single-use codes to the stock of a perk' })
  @ApiResponse({ status: 200, description: 'Number of new codes', type: LoadedCouponCodes })
  @ApiProblems('PERK_HAS_NO_CODES', 'PERK_NOT_FOUND')
  async loadCouponCodes(
    @Param('perkId', CallerIdPipe) perkId: string,
    @Body() { codes }: LoadCouponCodesDto,
  ): Promise<LoadedCouponCodes> {
    return this.codes.load(perkId, codes);
  }

  @Get()
  @ApiOperation({
    summary: 'Count all codes of a perk, and those that are left',
  })
  @ApiResponse({ status: 200, description: 'The stock', type: CouponCodeStock })
  @ApiProblems('PERK_HAS_NO_CODES', 'PERK_NOT_FOUND')
  async getCouponCodeStock(@Param('perkId', CallerIdPipe) perkId: string): Promise<CouponCodeStock> {
    return this.codes.stock(perkId);
  }
}
