import { expect, test } from 'vitest'
import { hostOfPeer, unusablePeerHost } from './peer-hosts.ts'

test.each([
  ['loopback', ['127.0.0.1', '127.255.2.3', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1']],
  ['loopback', ['localhost', 'LOCALHOST', 'a.localhost', 'localhost.']],
  ['link-local', ['169.254.1.1', 'fe80::1', 'febf::1', '::ffff:169.254.0.1']],
  ['multicast', ['224.0.0.1', '239.1.1.1', 'ff02::1']],
  ['reserved', ['255.255.255.255', '240.0.0.1']],
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::', '0::0', '::ffff:0.0.0.0']],
  ['metadata', ['169.254.169.254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254']],
  ['metadata', ['::ffff:169.254.169.254', 'FD00:EC2:0:0:0:0:0:254']],
])('no peer can be at a %s host', (kind, hosts) => {
  for (const host of hosts) expect(unusablePeerHost(host), host).toBe(kind)
})

test.each([
  ...[
    '10.0.0.1',
    '192.168.1.1',
    '172.16.0.1',
    '100.64.0.1',
    '100.100.100.201',
    '203.0.113.7',
    '223.255.255.255',
  ],
  ...['2001:db8::1', 'fd00::1', 'fec0::1', '::ffff:10.0.0.1', '1:2:3:4:5:6:7:8', '128.0.0.1', '1.0.0.0'],
  ...['n1.example', 'localhost.example', 'notlocalhost', '127.0.0.1.example', '::1::', '1:2', '300.0.0.1'],
])('a peer can be at %s', (host) => expect(unusablePeerHost(host)).toBeUndefined())

test.each([
  ['10.0.0.1:80', '10.0.0.1'],
  ['[2001:db8::1]:80', '2001:db8::1'],
  ['n1.example:80', 'n1.example'],
  ['none', ''],
])('the host of %s is %s', (address, host) => expect(hostOfPeer(address)).toBe(host))
