// Writes certificates in DER, the binary form of ASN.1, and in PEM. Only the elements of self-signed certificates.

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  oid: 0x06,
  text: 0x0c,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  dnsName: 0x82,
  version: 0xa0,
  extensions: 0xa3,
} as const

const COMMON_NAME = '550403'
const LINE = /.{1,64}/g

/** One element: tag, length and content. */
export function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  if (body.length >= 0x1_0000) throw new RangeError('The certificate is too long.')
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

export const sequence = (...content: readonly Buffer[]): Buffer => element(TAG.sequence, ...content)
export const oid = (hex: string): Buffer => element(TAG.oid, Buffer.from(hex, 'hex'))

/** A distinguished name with a common name only. */
export const commonName = (name: string): Buffer =>
  sequence(element(TAG.set, sequence(oid(COMMON_NAME), element(TAG.text, Buffer.from(name)))))

export function certificatePem(der: Buffer): string {
  const lines = der.toString('base64').match(LINE) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
