import { expect, test } from 'vitest'
import { parseUsers } from './systemd-machine.ts'

test('users are read with their ids; lines that are no users are left out', () => {
  const passwd =
    'root:x:0:0:root:/root:/bin/bash\nholdfast-etcd:x:997:996::/nonexistent:/usr/sbin/nologin\n+::::::\n\n'
  expect(parseUsers(passwd)).toEqual([
    { name: 'root', uid: 0, gid: 0 },
    { name: 'holdfast-etcd', uid: 997, gid: 996 },
  ])
})
