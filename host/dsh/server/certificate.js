/** The host's side of AutoMTLS: a key and certificate that live as long as one plugin process. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const day = 24 * 60 * 60 * 1000
/** A clock that was set back a little must not end the connection. */
const backdatedMs = 60 * 1000
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/**
 * A self-signed ECDSA P-256 certificate as go-plugin's AutoMTLS expects it: for
 * `localhost`, its own authority, for either side of a connection.
 * @returns {Promise<{ certificate: string, privateKey: string }>} both in PEM
 */
export async function clientIdentity() {
  const crypto = /** @type {Crypto} */ (webcrypto)
  x509.cryptoProvider.set(crypto)
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const now = Date.now()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'O=draft-sessions,CN=localhost',
    notBefore: new Date(now - backdatedMs),
    notAfter: new Date(now + 3650 * day),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth, x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }]),
    ],
  })
  const privateKey = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return { certificate: certificate.toString('pem'), privateKey: x509.PemConverter.encode(privateKey, 'PRIVATE KEY') }
}

/** @param {Buffer} der @returns {string} PEM */
export function toPem(der) {
  return x509.PemConverter.encode(new Uint8Array(der), 'CERTIFICATE')
}
