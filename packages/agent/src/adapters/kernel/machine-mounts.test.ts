import { expect, test } from 'vitest'
import { onMachine } from './machine-mounts.ts'

test('mounts in the tree of this process unless the unit names another', () => {
  expect(onMachine('umount', ['/v'], undefined)).toEqual(['umount', ['/v']])
  expect(onMachine('umount', ['--lazy', '/v'], '/proc/1/ns/mnt')).toEqual([
    'nsenter',
    ['--mount=/proc/1/ns/mnt', '--', 'umount', '--lazy', '/v'],
  ])
})
