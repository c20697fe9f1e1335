//! Identifiers at tax authorities: their countries and their types, which an invoice can show (invoicing 3.2).

use serde::Serialize;

use crate::{
    json::Json,
    shape::{Describe, Read, Reader, Schema},
};

#[rustfmt::skip]
const COUNTRIES: [&str; 116] = [
    "AD", "AE", "AL", "AM", "AO", "AR", "AT", "AU", "AW", "AZ", "BA", "BB", "BD", "BE", "BF", "BG",
    "BH", "BJ", "BO", "BR", "BS", "BY", "CA", "CD", "CH", "CL", "CM", "CN", "CO", "CR", "CV", "CY",
    "CZ", "DE", "DK", "DO", "EC", "EE", "EG", "ES", "ET", "EU", "FI", "FO", "FR", "GB", "GE", "GI",
    "GN", "GR", "HK", "HR", "HU", "ID", "IE", "IL", "IN", "IS", "IT", "JP", "KE", "KG", "KH", "KR",
    "KZ", "LA", "LI", "LK", "LT", "LU", "LV", "MA", "MD", "ME", "MK", "MR", "MT", "MX", "MY", "NG",
    "NL", "NO", "NP", "NZ", "OM", "PE", "PH", "PL", "PT", "PY", "RO", "RS", "RU", "SA", "SE", "SG",
    "SI", "SK", "SN", "SR", "SV", "TH", "TJ", "TR", "TW", "TZ", "UA", "UG", "US", "UY", "UZ", "VE",
    "VN", "ZA", "ZM", "ZW",
];

#[rustfmt::skip]
const TYPES: [&str; 116] = [
    "ad_nrt", "ae_trn", "al_tin", "am_tin", "ao_tin", "ar_cuit", "eu_vat", "au_abn", "au_arn",
    "aw_tin", "az_tin", "ba_tin", "bb_tin", "bd_bin", "bf_ifu", "bg_uic", "bh_vat", "bj_ifu",
    "bo_tin", "br_cnpj", "br_cpf", "bs_tin", "by_tin", "ca_bn", "ca_gst_hst", "ca_pst_bc",
    "ca_pst_mb", "ca_pst_sk", "ca_qst", "cd_nif", "ch_uid", "ch_vat", "cl_tin", "cm_niu",
    "cn_tin", "co_nit", "cr_tin", "cv_nif", "de_stn", "do_rcn", "ec_ruc", "eg_tin", "es_cif",
    "et_tin", "eu_oss_vat", "fo_vat", "gb_vat", "ge_vat", "gi_tin", "gn_nif", "hk_br", "hr_oib",
    "hu_tin", "id_npwp", "il_vat", "in_gst", "is_vat", "it_cf", "jp_cn", "jp_rn", "jp_trn",
    "ke_pin", "kg_tin", "kh_tin", "kr_brn", "kz_bin", "la_tin", "li_uid", "li_vat", "lk_vat",
    "ma_vat", "md_vat", "me_pib", "mk_vat", "mr_nif", "mx_rfc", "my_frp", "my_itn", "my_sst",
    "ng_tin", "no_vat", "no_voec", "np_pan", "nz_gst", "om_vat", "pe_ruc", "ph_tin", "pl_nip",
    "py_ruc", "ro_tin", "rs_pib", "ru_inn", "ru_kpp", "sa_vat", "sg_gst", "sg_uen", "si_tin",
    "sn_ninea", "sr_fin", "sv_nit", "th_vat", "tj_tin", "tr_tin", "tw_vat", "tz_vat", "ua_vat",
    "ug_tin", "us_ein", "uy_ruc", "uz_tin", "uz_vat", "ve_rif", "vn_tin", "za_vat", "zm_tin",
    "zw_tin",
];

/// Declares a word out of a list.
macro_rules! one_of {
    ($($(#[doc = $doc:literal])* $name:ident, $words:ident, $expected:literal;)*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Serialize)]
        #[serde(transparent)]
        pub(crate) struct $name(&'static str);

        impl Read for $name {
            fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
                let Json::String(text) = json else {
                    return reader.unexpected(json, at, "a string");
                };
                match $words.iter().find(|word| *word == text) {
                    Some(word) => Some(Self(word)),
                    None => reader.wrong(at, $expected),
                }
            }
        }

        impl Describe for $name {
            fn schema() -> Schema {
                Schema::Choice { name: stringify!($name), words: $words.to_vec() }
            }
        }
    )*};
}

one_of! {
    /// The country of an identifier at a tax authority.
    TaxIdCountry, COUNTRIES, "expected the country of a tax id, such as DE";
    /// The type of an identifier at a tax authority.
    TaxIdType, TYPES, "expected the type of a tax id, such as eu_vat";
}
