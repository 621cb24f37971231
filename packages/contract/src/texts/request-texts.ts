// The texts of request bodies other than manifests: secrets are in secret-texts.ts.

import type { FieldTexts } from '../shapes/shape.ts'

export const joinTokenTexts = {
  nodeName: {
    meaning: 'The name of the node that may enroll with the token. The token is valid once.',
    range: 'lowercase letters, digits and hyphens, first a letter, at most 63 characters',
    example: 'acme-1',
  },
  residency: {
    meaning:
      'The location of the machine, which the token attests. Residency rules use only attested locations, so a machine cannot claim another one.',
    absent: 'the node has no location and satisfies no country or region',
    range: 'an object with country and region, both optional',
    example: { country: 'DE' },
  },
  controlPlane: {
    meaning: 'Whether the control plane runs on the machine. Such a node accepts no work of tenants.',
    absent: 'the node is an ordinary one',
    range: 'true or false; true requires a platform token',
    example: false,
  },
} satisfies FieldTexts

export const nodeResidencyTexts = {
  country: {
    meaning: 'The country in which the machine is.',
    absent: 'the node has no country',
    range: 'an ISO 3166-1 country code of two capital letters',
    example: 'DE',
  },
  region: {
    meaning: 'The region in which the machine is. A country is enough if a region of the platform lists it.',
    absent: 'the region follows from the country',
    range: '1 to 253 printable ASCII characters; residency rules match regions that the platform declares',
    example: 'eu',
  },
} satisfies FieldTexts

export const nodeTexts = {
  controlPlane: {
    meaning: 'Whether the control plane runs on the node. Such a node accepts no work of tenants.',
    range: 'true or false',
    example: true,
  },
} satisfies FieldTexts

export const tenantTexts = {
  name: {
    meaning: 'The name of the tenant.',
    range: 'lowercase letters, digits and hyphens, first a letter, at most 63 characters',
    example: 'acme',
  },
} satisfies FieldTexts

export const tenantPatchTexts = {
  name: { ...tenantTexts.name, absent: 'the name stays' },
  quotas: {
    meaning:
      'New limits of the tenant, by kind. Kinds that are not sent stay. A limit below the present use removes nothing and prevents more.',
    absent: 'the quotas stay',
    range:
      'whole numbers from 0 for nodes, deployments, containers, volumes, volume_bytes, networks, jobs_running, secrets, backups, tokens and stored_bytes',
    example: { containers: 200 },
  },
} satisfies FieldTexts

export const tokenTexts = {
  name: {
    meaning: 'A name that tells people what the token is for.',
    range: '1 to 63 printable ASCII characters',
    example: 'ci',
  },
  role: {
    meaning: 'The role of the token, which decides its permissions. holdfast explain roles lists them.',
    range: 'viewer, developer, secrets-admin, tenant-admin or platform-admin',
    example: 'developer',
  },
  expiresAt: {
    meaning: 'The time at which the token becomes invalid.',
    range: 'a time in the future, in the form of RFC 3339',
    example: '2030-01-31T00:00:00Z',
  },
} satisfies FieldTexts

export const signInTexts = {
  token: {
    meaning:
      'The API token with which the browser signs in. The server stores neither the token nor the cookie itself.',
    range: 'a token of this platform that is valid now',
    example: 'hf_01J9ZK3V7Q8W2X4Y6Z0A1B2C3D_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
  },
} satisfies FieldTexts

export const registryCredentialTexts = {
  username: {
    meaning: 'The user name with which images are pulled from the registry.',
    range: 'a user name, not empty and without a colon',
    example: 'puller',
  },
  password: {
    meaning: 'The password or token of that user. It goes to the secrets store only and is never returned.',
    range: 'a password or token, not empty',
    example: 'correct-horse',
  },
} satisfies FieldTexts

export const rollbackTexts = {
  revision: {
    meaning: 'The archived revision whose manifest becomes a new revision.',
    range: 'a revision that GET /api/v1/archives lists',
    example: 3,
  },
} satisfies FieldTexts

export const backupTexts = {
  deploymentName: {
    meaning: 'The deployment whose configuration is copied.',
    range: 'the name of a deployment of this tenant',
    example: 'orders',
  },
} satisfies FieldTexts

export const execTexts = {
  command: {
    meaning: 'The program to run in the container, and its arguments. No shell is involved.',
    range: 'a program and its arguments, without NUL characters',
    example: ['ls', '-la', '/'],
  },
  replica: {
    meaning: 'The number of the replica in which the command runs.',
    absent: 'the first ready replica is used',
    range: 'a whole number from 1',
    example: 1,
  },
  canary: {
    meaning: 'Whether the command runs in a replica of the canary.',
    absent: 'the command runs in a replica of the deployment itself',
    range: 'true or false',
    example: true,
  },
  tty: {
    meaning: 'Whether the command gets a terminal, for interactive programs.',
    absent: 'the command gets no terminal',
    range: 'true or false',
    example: true,
  },
} satisfies FieldTexts

export const capacityTexts = {
  cpuMillis: {
    meaning: 'The CPU of the machine, in thousandths of a core.',
    range: 'a whole number, 0 or greater',
    example: 4000,
  },
  memoryBytes: {
    meaning: 'The memory of the machine, in bytes.',
    range: 'a whole number, 0 or greater',
    example: 8_589_934_592,
  },
} satisfies FieldTexts

export const engineTexts = {
  version: { meaning: 'The version of the Docker Engine.', range: 'a version', example: '29.5.1' },
  apiVersion: {
    meaning: 'The version of the API of the Docker Engine.',
    range: 'a version',
    example: '1.51',
  },
} satisfies FieldTexts

/** The enrollment is sent by the agent, not by people. */
export const enrollmentTexts = {
  nodeName: { ...joinTokenTexts.nodeName, meaning: 'The name of the node, which the join token states.' },
  joinToken: {
    meaning: 'The join token, which is valid once.',
    range: 'a token that holdfast node join-token printed',
    example: 'hfj_01JCPZ0000000000000000000A_secret',
  },
  publicKey: {
    meaning: 'The Ed25519 key with which the agent proves its identity.',
    range: 'the base64url of 32 bytes',
    example: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  },
  encryptionKey: {
    meaning: 'The X25519 key to which environments of containers are sealed.',
    range: 'the base64url of 32 bytes',
    example: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  },
  labels: {
    meaning:
      'Labels of the machine, for placement.constraints. Labels below holdfast.io/ are used only if the join token attests them.',
    absent: 'the node has no labels of its own',
    range: 'label keys, and values of at most 253 printable ASCII characters',
    example: { disk: 'ssd' },
  },
  engine: {
    meaning: 'The Docker Engine of the machine.',
    range: 'an object with version and apiVersion',
    example: { version: '29.5.1', apiVersion: '1.51' },
  },
  capacity: {
    meaning: 'The CPU and memory of the machine.',
    range: 'an object with cpuMillis and memoryBytes',
    example: { cpuMillis: 4000, memoryBytes: 8_589_934_592 },
  },
} satisfies FieldTexts

export const dryRunTexts = {
  documents: {
    meaning:
      'Manifests of deployments and jobs to judge without storing them. Each is judged as if those that it needs were stored and ready; jobs are judged last.',
    range: 'at most 100 manifests',
    example: [{ kind: 'Deployment', name: 'web', image: 'registry.example.com/web:1.4.2' }],
  },
} satisfies FieldTexts
