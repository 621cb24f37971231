import { expect, test } from 'vitest'
import { explainInvite, type InviteFacts } from './explain-invite.ts'
import { readInviteRun } from './read-invite-run.ts'

const member = (name: string, address: string) => ({
  id: 1n,
  name,
  peerUrls: [`https://${address}:2380`],
  clientUrls: [`https://${address}:2379`],
  isLearner: false,
})
const READY: InviteFacts = {
  missing: [],
  authorityKey: '/etc/holdfast/pki/ca-key.pem',
  ownAddress: '10.0.0.1',
  members: [member('one', '10.0.0.1'), member('b', '10.0.0.2')],
}

test.each<[string, Partial<InviteFacts>, string, string, string | undefined]>([
  ['a new machine', {}, 'c', '10.0.0.3', undefined],
  ['a member again, to renew its certificates', {}, 'b', '10.0.0.2', undefined],
  [
    'a machine that was added and did not start',
    { members: [member('', '10.0.0.3')] },
    'c',
    '10.0.0.3',
    undefined,
  ],
  ['the name of a member elsewhere', {}, 'b', '10.0.0.3', 'is a member with the address 10.0.0.2'],
  ['the address of another member', {}, 'c', '10.0.0.2', 'is the address of the member b'],
  ['without a platform', { ownAddress: undefined }, 'c', '10.0.0.3', 'Run setup --single first'],
  ['from loopback', { ownAddress: '127.0.0.1' }, 'c', '10.0.0.3', 'again with --address'],
  ['without etcd', { members: undefined }, 'c', '10.0.0.3', 'etcd does not answer'],
  ['without the authority', { missing: [READY.authorityKey] }, 'c', '10.0.0.3', 'Copy it there for this run'],
])('invites %s', (_, change, name, address, why) => {
  const reasons = explainInvite({ ...READY, ...change }, { name, address })
  expect(reasons).toEqual(why === undefined ? [] : [expect.stringContaining(why)])
})

test.each<[string, string, string]>([
  ['B', '10.0.0.2', 'needs --name'],
  ['a/../b', '10.0.0.2', 'needs --name'],
  ['b', '127.0.0.1', 'needs --address'],
  ['b', '0.0.0.0', 'needs --address'],
  ['b', 'b.example', 'needs --address'],
])('rejects the invitation of %s at %s', (name, address, why) => {
  const read = readInviteRun(new Map(Object.entries({ '--name': name, '--address': address })))
  expect(read).toEqual({ kind: 'fault', why: expect.stringContaining(why) })
})

test('names the file after the machine', () => {
  const read = readInviteRun(new Map(Object.entries({ '--name': 'b', '--address': 'fd00::2' })))
  expect(read).toMatchObject({
    kind: 'run',
    run: { name: 'b', file: 'holdfast-invitation-b.json', root: '/' },
  })
})
