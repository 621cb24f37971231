import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { expect, test } from 'vitest'
import { decodeMemberListResponse } from './decode-members.ts'

test('decodes members with ids of 64 bits, and skips what it does not know', () => {
  const writer = new BinaryWriter()
  writer.uint32(0x0a).fork().uint32(0x08).uint64(7n).join()
  writer.uint32(0x12).fork()
  writer.uint32(0x08).uint64(0xfedcba9876543210n).uint32(0x12).string('b')
  writer.uint32(0x1a).string('https://10.0.0.2:2380').uint32(0x22).string('https://10.0.0.2:2379')
  writer.uint32(0x28).bool(true).uint32(0x32).string('of a newer etcd').join()
  writer.uint32(0x12).fork().uint32(0x08).uint64(1n).uint32(0x1a).string('https://10.0.0.3:2380').join()
  expect(decodeMemberListResponse(Buffer.from(writer.finish()))).toEqual([
    {
      id: 0xfedcba9876543210n,
      name: 'b',
      peerUrls: ['https://10.0.0.2:2380'],
      clientUrls: ['https://10.0.0.2:2379'],
      isLearner: true,
    },
    { id: 1n, name: '', peerUrls: ['https://10.0.0.3:2380'], clientUrls: [], isLearner: false },
  ])
})
