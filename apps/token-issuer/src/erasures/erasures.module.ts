import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AccountEntity } from '../accounts/account.entity.js';
import { ErasureRunner } from './erasure-runner.js';
import { ErasuresController } from './erasures.controller.js';
import { ErasuresService } from './erasures.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([AccountEntity])],
  controllers: [ErasuresController],
  providers: [ErasuresService, ErasureRunner],
})
export class ErasuresModule {}
