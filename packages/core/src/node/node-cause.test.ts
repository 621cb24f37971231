import { expect, test } from 'vitest'
import { isCauseOfNode } from './node-cause.ts'

test.each([
  ['create_failed', 'failed', 'mkdir /var/lib/docker/overlay2/x: no space left on device', true],
  ['create_failed', 'failed', 'error creating overlay mount: invalid argument', true],
  ['create_failed', 'not_found', 'network hf-acme not found', true],
  ['create_failed', 'refused', 'invalid memory limit', false],
  ['start_failed', 'failed', 'failed to create endpoint web on network hf-acme', true],
  ['start_failed', 'failed', 'fork/exec /usr/bin/runc: no such file or directory', true],
  ['start_failed', 'refused', 'exec: "serve": executable file not found in $PATH', false],
  ['start_failed', 'failed', 'exec: "serve": executable file not found in $PATH', false],
  ['start_failed', 'failed', 'exec /serve: exec format error', false],
  ['start_failed', 'failed', 'container init was OOM-killed (memory limit too low?)', false],
  ['start_failed', 'failed', 'unable to find user web: no matching entries in passwd file', false],
  ['network_failed', 'refused', 'could not find an available IPv4 address pool', true],
  ['image_pull_failed', 'failed', 'failed to register layer: no space left on device', true],
  ['image_pull_failed', 'failed', 'dial tcp: lookup registry.example: no such host', false],
  ['image_pull_failed', 'not_found', 'manifest unknown', false],
  ['secret_unresolved', '', '', false],
  ['volume_not_mounted', 'failed', 'no space left on device', false],
  ['refused_by_agent', '', '', false],
])('%s with the fault %s: %s is a cause of the node: %s', (reason, fault, message, expected) => {
  expect(isCauseOfNode({ reason, fault, message })).toBe(expected)
})
